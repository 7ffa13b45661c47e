# Keys and tokens for tests. These keys were made for them and guard nothing.
package fieldveil.tokens_test

# Of nothing but tests.
private_rsa := {
	"kty": "RSA",
	"kid": "rsa",
	"n": concat("", [
		"vDvtJnzKBosts2Z-0ny-",
		"2DbO2CY54R1KvCePe2t4DyUZ0DZYxmiHyV2oeUemgE8fW3qlXdYTDe0I1N6SIr7cDqcq6uWb0yQBhmUDHWxf3ueL9SkcgDsXpc3_",
		"-BzcNs-YvXdZ4hSaQLRTba-V6n7uuPbE9Pqbob7WmWf4LUj8AWAtSunndf50SwwdCuBEU_NsnECTDNfvibr-",
		"2ZAiurTWJCvFmSPuW3MqsfsbfssPssslFJbMmhVGdBQCjMU32U47BKQmhHC67NMPPh6Kofg4EfbGEw7lqwNzUlqy0HG6m7YKd3W1",
		"uVKcRZuRiBNpjWho86g_cTnW_aRI9QD3qA507Q",
	]),
	"e": "AQAB",
	"p": concat("", [
		"7-FcPdqTSzFcDQeFcuYi3zJ1wEzOs2zEis_-Zryj1Guq4LuSTt_bzXy2j_2S98bO8i6LPi7uZ0BkqvlVDXsrPnLjrO6xMiNJRQ1F",
		"zXOOwxURePeSjf-z8vfXX6ki4_S2ze3L7u7za8nfZTO7RxNOovJ_m_dHbYRWtGQU3jwzxi0",
	]),
	"q": concat("", [
		"yOIZwe-ZsSOeKoN6mdN6VOXMhQ1EWkKu2UUG1ggEji5cClfHznV0kcTFiy2TDzaB5X6r69C5xr2Wjwerck5w6El_k-",
		"MJ1PyzYfM9uuq4MRBzUlpwiW6JBcRt61RRBxWI2KZG0_spvha3nXgPdO1VnK1lpIUYPwIuFWQncI8LYcE",
	]),
	"dp": concat("", [
		"MV6ATXqetesCtuvFW1Bh_O21rk4gfGz2RltoUFyimyVNldME2ZbY9gGk0R2vEa-pB87seW_PQRDPpyCJkKy4ybF7iivV7Cu2-",
		"K8ynoYZ66x6XBsX3oGx11-Kw_VbaO8EcH1wa0xibNyvTXTIJmii1oZyHPdXjAKglZ_Da7mYLkE",
	]),
	"dq": concat("", [
		"PqGH6FhcscbqHFUr12QBAxE2p9EQG5gozaLg08BiMzYvCiZ-LFeghYY1FQSbkiWrcDMDRR2pnlYj5-",
		"o7QQNF3pZzyVcDDL3Q69wbxfhCf0Giwu1houesnvi0UKfUL4I-TVXiRVtMk3CfxN_W6dzJUXUaeKXqflKerZqxVT20DcE",
	]),
	"qi": concat("", [
		"xXUUw8Bc87i7FIl0IDNbFRzaJmLS9plG8og27dxkm3tNnCUNCM1VCG9zX6HcaT8vrJ-rFojA8VIqhq4TV3upbuG1tALQUn-",
		"HK7jC9zIBnWKUGaFWMjFbK_NQNOPId5HarTeX98fx1qnU9NClsbmBlTVXUovyNF03WqfAPtQfsqQ",
	]),
	"d": concat("", [
		"LKk1R9v03R-ZnMa1UYC6kTdT1XIganqWOFVUlE534nQFj2LNpmm3yf24Uuo-",
		"pZPgV0aexMhdpgC3Bza1ypupP6rHIouO8MZKvFXsKseDabJbgTQbaItcvYDGelpyn2ibD10pjNwhized0dkGw2gRgP4_1fY-Bd7v",
		"MN-",
		"7wRbff_2mvVqxPZGKGm69mp0a5DoP17V3PvK6uZ0iqf5guIPUyBKdbH_pYcDQryTa8X2nNtPJWL0Wqfg3hRG1R4BJwaOZb1lChqf",
		"Y_MFkYzWLkH8XJBsZCUOhT8cx37k9dJC29ob2BUX9YU-HkFNICBkQYGVMfuy1rGe1CqWE-ZzBif5_gQ",
	]),
}

# Of nothing but tests.
private_ec := {
	"kty": "EC",
	"kid": "ec",
	"crv": "P-256",
	"x": "YSI4_PQl0B5VBBea2a5IZlVhmpPpCqQuJ93sYIOZ6Zs",
	"y": "SfkHQbUUsUsv_sfR4megmVmrZv_eDipau_sl8ftPgas",
	"d": "ZH9Dcgk7qlyBSJvuBGRYD43GR90mosQNEh5Uszt2RzY",
}

# Of nothing but tests.
private_ed := {
	"kty": "OKP",
	"kid": "ed",
	"crv": "Ed25519",
	"x": "woeSvnnkAbCTrkbJB5HxvYo98w1TY3NLDuqAcwQlfgA",
	"d": "KFmLgJLD71WtgFisaZa6d8NGpxsRd4MWyb0TAyHkVZU",
}

# Of nothing but tests.
private_stranger := {
	"kty": "EC",
	"kid": "stranger",
	"crv": "P-256",
	"x": "RLjyTZet6zYkbc1RfKeQYSTOX3xVYAtwmrSjXpbU5Iw",
	"y": "nMhYtMU194Fj3ubJXi4VH_-dUWpxNQT42i_bDnsiYAk",
	"d": "bNWmEpvWCpBmKWt4GG2k7FHVz78gwHMnfihIps_jdf0",
}

public(key) := object.filter(key, ["kty", "kid", "crv", "n", "e", "x", "y"])

jwks := {"keys": [public(private_rsa), public(private_ec), public(private_ed)]}

issuer := {
	"issuer": "https://issuer.example",
	"audience": "fieldveil",
	"algorithms": ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "EdDSA"],
	"jwks": jwks,
}

claims := {"iss": "https://issuer.example", "aud": "fieldveil", "sub": "ann", "exp": 1800000000}

# A token of `claims` with some others.
token(others) := signed(private_ec, {"alg": "ES256", "kid": "ec"}, object.union(claims, others))

signed(key, header, payload) := io.jwt.encode_sign(header, payload, key)
