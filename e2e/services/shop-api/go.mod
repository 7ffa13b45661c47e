// The ordinary JSON service of the end-to-end tests: it stores and gives back what it gets, and knows nothing of sealing.
module github.com/fieldveil/fieldveil/e2e/services/shop-api

go 1.25.0
