package mysql

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"sync"
)

// A server that does not remember a password asks for it. Within TLS it takes the password as it is. A client on a Unix
// socket sends it so. A client over TCP without TLS asks for the server's public key instead, and encrypts the password
// with it; so the bridge, where the server's TLS ends, answers with a key of its own.
const (
	cachingSHA2 = "caching_sha2_password"
	// performFullAuthentication is what the server asks for the password by.
	performFullAuthentication = 0x04
	// requestPublicKey is what a client asks for the key by.
	requestPublicKey = 0x02
	keyBits          = 2048
)

var errPassword = errors.New("a password that was not encrypted with the key that it asked for")

// privateKey is made when the first client asks for it, and lives as long as the process. It takes some 100 ms.
var privateKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, keyBits) })

// publicKey is the key as the server would send it.
func publicKey() ([]byte, error) {
	key, err := privateKey()
	if err != nil {
		return nil, err
	}
	bytes, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	return append([]byte{moreData}, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: bytes})...), nil
}

// decryptPassword gives the password with its ending NUL, as the server takes it within TLS. The client mixed it with
// the scramble before it encrypted it.
func decryptPassword(encrypted, scramble []byte) ([]byte, error) {
	key, err := privateKey()
	if err != nil {
		return nil, err
	}
	// The protocol's OAEP is of SHA-1.
	password, err := rsa.DecryptOAEP(sha1.New(), nil, key, encrypted, nil)
	if err != nil || len(password) == 0 || len(scramble) == 0 {
		return nil, errPassword
	}
	for i := range password {
		password[i] ^= scramble[i%len(scramble)]
	}
	if password[len(password)-1] != 0 {
		clear(password)
		return nil, errPassword
	}
	return password, nil
}
