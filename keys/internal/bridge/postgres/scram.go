package postgres

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
)

const (
	scramSHA256 = "SCRAM-SHA-256"
	// withoutBinding is the header of a client that does not know channel binding, and its base64 form (RFC 5802, section 7).
	withoutBinding       = "n,,"
	withoutBindingBase64 = "biws"
	// nonceBytes is what the server's nonce has, too.
	nonceBytes = 18
	// maxIterations bounds what a server can make the bridge compute; PostgreSQL's own number is 4,096.
	maxIterations = 1_000_000
)

var (
	errScram          = errors.New("a message that is none of SCRAM's")
	errScramSignature = errors.New("a signature of SCRAM that does not show that it knows the password")
)

// scram proves a password by SCRAM-SHA-256 (RFC 5802, RFC 7677). The user is that of the StartupMessage, so none is named.
type scram struct {
	password  string
	firstBare string
	signature []byte // that the server has to give
}

// newScram takes the password as a user types it.
func newScram(password string) *scram {
	random := make([]byte, nonceBytes)
	_, _ = rand.Read(random) // never fails
	return &scram{password: prepared(password), firstBare: "n=,r=" + base64.StdEncoding.EncodeToString(random)}
}

// first is the client-first-message.
func (s *scram) first() string { return withoutBinding + s.firstBare }

// final takes the server-first-message and gives the client-final-message.
func (s *scram) final(serverFirst string) (string, error) {
	nonce, salt, iterations, err := parseServerFirst(serverFirst)
	_, own, _ := strings.Cut(s.firstBare, "r=")
	if err != nil || !strings.HasPrefix(nonce, own) || len(nonce) == len(own) {
		return "", errScram
	}
	salted, err := pbkdf2.Key(sha256.New, s.password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	withoutProof := "c=" + withoutBindingBase64 + ",r=" + nonce
	message := s.firstBare + "," + serverFirst + "," + withoutProof
	clientKey := sign(salted, "Client Key")
	storedKey := sha256.Sum256(clientKey)
	proof := make([]byte, sha256.Size)
	subtle.XORBytes(proof, clientKey, sign(storedKey[:], message))
	s.signature = sign(sign(salted, "Server Key"), message)
	return withoutProof + ",p=" + base64.StdEncoding.EncodeToString(proof), nil
}

// verify takes the server-final-message.
func (s *scram) verify(serverFinal string) error {
	text, ok := strings.CutPrefix(serverFinal, "v=")
	signature, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		return errScram
	}
	if !hmac.Equal(signature, s.signature) {
		return errScramSignature
	}
	return nil
}

// parseServerFirst reads "r=…,s=…,i=…".
func parseServerFirst(message string) (nonce string, salt []byte, iterations int, err error) {
	parts := strings.Split(message, ",")
	if len(parts) < 3 || !strings.HasPrefix(parts[0], "r=") || !strings.HasPrefix(parts[1], "s=") || !strings.HasPrefix(parts[2], "i=") {
		return "", nil, 0, errScram
	}
	salt, err = base64.StdEncoding.DecodeString(parts[1][2:])
	if err != nil {
		return "", nil, 0, errScram
	}
	iterations, err = strconv.Atoi(parts[2][2:])
	if err != nil || iterations < 1 || iterations > maxIterations {
		return "", nil, 0, errScram
	}
	return parts[0][2:], salt, iterations, nil
}

func sign(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}

// prepared is SASLprep (RFC 4013) as PostgreSQL has it: a password that it does not allow is taken as it is.
func prepared(password string) string {
	isUnassigned := func(r rune) bool { return stringprep.TableA1.Contains(r) }
	if !utf8.ValidString(password) || strings.ContainsFunc(password, isUnassigned) {
		return password
	}
	if prepared, err := stringprep.SASLprep.Prepare(password); err == nil && prepared != "" {
		return prepared
	}
	return password
}
