package fieldveil.own

x := 1
