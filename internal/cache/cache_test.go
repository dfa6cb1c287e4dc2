package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
	"sync"
	"testing"
)

// shelf is a Store in memory.
type shelf map[string][]byte

func (s shelf) Load(key string) ([]byte, error) {
	if data, ok := s[key]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("%s: %w", key, iofs.ErrNotExist)
}

func (s shelf) Save(key string, data []byte) error {
	s[key] = data
	return nil
}

func TestKeptAndFound(t *testing.T) {
	s, id := shelf{}, ID{Kind: "numbers 1", Of: [32]byte{1}}
	if _, err := id.Load(s); !errors.Is(err, iofs.ErrNotExist) {
		t.Fatalf("nothing was kept: %v", err)
	}
	if err := id.Save(s, Seal(append(id.Begin(3), "abc"...))); err != nil {
		t.Fatal(err)
	}
	if body, err := id.Load(s); err != nil || string(body) != "abc" {
		t.Fatalf("%q, %v", body, err)
	}
	for _, other := range []ID{{Kind: "numbers 2", Of: id.Of}, {Kind: id.Kind, Of: [32]byte{2}}} {
		if _, err := other.Load(s); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%v has the same key: %v", other, err)
		}
	}
}

// TestDamage checks that every damage is noticed, and so is a frame with another ID.
func TestDamage(t *testing.T) {
	id := ID{Kind: "numbers 1", Of: [32]byte{1}}
	good := Seal(append(id.Begin(3), "abc"...))
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		if _, err := id.Body(bad); err == nil {
			t.Errorf("byte %d was changed", i)
		}
		if _, err := id.Body(good[:i]); err == nil {
			t.Errorf("cut to %d bytes", i)
		}
	}
	for _, other := range []ID{{Kind: "numbers 2", Of: id.Of}, {Kind: id.Kind, Of: [32]byte{2}}, {Kind: "numbers 1 of more", Of: id.Of}} {
		if _, err := other.Body(good); err == nil || !strings.Contains(err.Error(), "not the ") && !strings.Contains(err.Error(), "checksum") {
			t.Errorf("taken for %v: %v", other, err)
		}
	}
}

func TestAllLoadsOnce(t *testing.T) {
	var blocks All
	loads := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if b, err := blocks.Block(t.Context(), 7, func(_ context.Context, n uint64) ([]byte, error) { loads++; return []byte{byte(n)}, nil }); err != nil || b[0] != 7 {
				t.Errorf("%v, %v", b, err)
			}
		})
	}
	wg.Wait()
	if loads != 1 {
		t.Errorf("loaded %d times", loads)
	}
	failed := errors.New("no")
	if _, err := blocks.Block(t.Context(), 8, func(context.Context, uint64) ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	if b, err := blocks.Block(t.Context(), 8, func(context.Context, uint64) ([]byte, error) { return []byte{1}, nil }); err != nil || len(b) != 1 {
		t.Errorf("an error was kept: %v, %v", b, err)
	}
}
