no rego at all
