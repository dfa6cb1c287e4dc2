package serving_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"time"
)

// writeCertificate writes a certificate that vouches for itself, and its key.
func writeCertificate(cert, key string, until time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	about := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"lorefs.example"}, NotAfter: until}
	data, err := x509.CreateCertificate(rand.Reader, &about, &about, &private.PublicKey, private)
	if err != nil {
		return err
	}
	if err := writePEM(cert, "CERTIFICATE", data); err != nil {
		return err
	}
	if data, err = x509.MarshalPKCS8PrivateKey(private); err != nil {
		return err
	}
	return writePEM(key, "PRIVATE KEY", data)
}

func writePEM(path, kind string, data []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600)
}
