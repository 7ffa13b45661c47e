package rules

shop := {"rules": []}
