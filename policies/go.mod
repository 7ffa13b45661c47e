module github.com/fieldveil/fieldveil/policies

go 1.26
