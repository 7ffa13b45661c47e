package kek

import (
	"context"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"hash/crc32"
	"strings"
	"sync"

	"cloud.google.com/go/kms/apiv1/kmspb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// cloudKMS is a stand-in for Google's Cloud KMS: the two calls that wrap keysets,
// with real AES-256-GCM, checksums and the statuses that its reference gives.
type cloudKMS struct {
	kmspb.UnimplementedKeyManagementServiceServer
	caller *rsa.PublicKey // of the one service account

	mutex   sync.Mutex
	keys    map[string][]byte // by the key's name
	trouble error             // in place of every answer
}

func (c *cloudKMS) Encrypt(ctx context.Context, q *kmspb.EncryptRequest) (*kmspb.EncryptResponse, error) {
	seal, err := c.admit(ctx, q.GetName(), q.GetPlaintext(), q.GetPlaintextCrc32C(), q.GetAdditionalAuthenticatedData(), q.GetAdditionalAuthenticatedDataCrc32C())
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, seal.NonceSize())
	rand.Read(nonce)
	ciphertext := seal.Seal(nonce, nonce, q.GetPlaintext(), q.GetAdditionalAuthenticatedData())
	return &kmspb.EncryptResponse{
		Name: q.GetName() + "/cryptoKeyVersions/1", Ciphertext: ciphertext, CiphertextCrc32C: checksum(ciphertext),
		VerifiedPlaintextCrc32C: true, VerifiedAdditionalAuthenticatedDataCrc32C: true,
	}, nil
}

func (c *cloudKMS) Decrypt(ctx context.Context, q *kmspb.DecryptRequest) (*kmspb.DecryptResponse, error) {
	open, err := c.admit(ctx, q.GetName(), q.GetCiphertext(), q.GetCiphertextCrc32C(), q.GetAdditionalAuthenticatedData(), q.GetAdditionalAuthenticatedDataCrc32C())
	if err != nil {
		return nil, err
	}
	errWrong := status.Error(codes.InvalidArgument, "Decryption failed: the ciphertext is invalid.")
	size := open.NonceSize()
	if len(q.GetCiphertext()) < size {
		return nil, errWrong
	}
	plaintext, err := open.Open(nil, q.GetCiphertext()[:size], q.GetCiphertext()[size:], q.GetAdditionalAuthenticatedData())
	if err != nil {
		return nil, errWrong
	}
	return &kmspb.DecryptResponse{Plaintext: plaintext, PlaintextCrc32C: checksum(plaintext)}, nil
}

// admit checks who asks, for what, and that it came whole.
func (c *cloudKMS) admit(
	ctx context.Context, name string, data []byte, sum *wrapperspb.Int64Value, more []byte, moreSum *wrapperspb.Int64Value,
) (cipher.AEAD, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.trouble != nil {
		return nil, c.trouble
	}
	if !c.isCaller(ctx) {
		return nil, status.Error(codes.Unauthenticated, "Request had invalid authentication credentials.")
	}
	if sum.GetValue() != checksum(data).GetValue() || moreSum.GetValue() != checksum(more).GetValue() {
		return nil, status.Error(codes.InvalidArgument, "The checksum does not match.")
	}
	key, there := c.keys[name]
	if !there {
		return nil, status.Error(codes.NotFound, "CryptoKey "+name+" not found.")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// isCaller checks the signature of the token that the service account signs itself.
func (c *cloudKMS) isCaller(ctx context.Context) bool {
	headers, _ := metadata.FromIncomingContext(ctx)
	token := strings.TrimPrefix(strings.Join(headers.Get("authorization"), ""), "Bearer ")
	end := strings.LastIndex(token, ".")
	if end < 0 {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(token[end+1:])
	digest := sha256.Sum256([]byte(token[:end]))
	return err == nil && rsa.VerifyPKCS1v15(c.caller, crypto.SHA256, digest[:], signature) == nil
}

func (c *cloudKMS) answers(trouble error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.trouble = trouble
}

func checksum(data []byte) *wrapperspb.Int64Value {
	return wrapperspb.Int64(int64(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))))
}
