package datacenter_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
)

// TestNotEncrypted checks that data centers that other programs have decrypted are named as that,
// and not taken for ones of an unknown key.
func TestNotEncrypted(t *testing.T) {
	for _, layout := range dctest.Layouts {
		image := dctest.NewImage(dctest.SmallDoc(layout), dctest.Options{})
		size := binary.LittleEndian.AppendUint32(nil, uint32(len(image.Data)))
		var deflated bytes.Buffer
		w := zlib.NewWriter(&deflated)
		_, err := w.Write(image.Data)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		key := []byte("sixteen letters!")
		for what, c := range map[string]struct {
			data []byte
			want string
		}{
			"decrypted":          {append(bytes.Clone(size), deflated.Bytes()...), "that is decrypted: want"},
			"inflated":           {image.Data, "that is decrypted and inflated: want"},
			"size, and inflated": {append(bytes.Clone(size), image.Data...), "that is decrypted and inflated: want"},
			"another key":        {image.Seal(dctest.SealOptions{Key: key, IV: key}), "no known key opens it"},
			"zlib of zeros":      {append(bytes.Clone(size), zeros(t)...), "no known key opens it"},
			"cut":                {image.Data[:11], "no known key opens it"},
		} {
			r := bytes.NewReader(c.data)
			_, err := datacenter.Open(t.Context(), r, r.Size(), datacenter.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %s: %v, want %s", layout, what, err, c.want)
			}
			if is := errors.Is(err, datacenter.ErrKey); is != strings.Contains(c.want, "key") {
				t.Errorf("%v, %s: a wrong key: %v", layout, what, is)
			}
		}
	}
}

// zeros returns a zlib stream of zeros.
func zeros(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := w.Write(make([]byte, 100))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
