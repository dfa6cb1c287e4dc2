package write

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lorefs/casc"
	"lorefs/casc/config"
	"lorefs/casc/encoding"
	"lorefs/casc/index"
)

// Installed reads an installed storage of any maker, whose span headers must be right: the build
// configuration and the encoded files, in the order in which they lie in the archives. Of the
// content keys, it has only that of the root.
func Installed(ctx context.Context, dir string) (cfg []byte, stored []Stored, err error) {
	st, err := casc.OpenPath(dir, casc.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("write: %w", err)
	}
	defer st.Close()
	var root encoding.ContentEntry
	ref, err := st.BuildConfig.Ref("root")
	if err == nil && !ref.CKey.IsZero() {
		root, err = st.Encoding().Find(ctx, ref.CKey)
	}
	if err == nil {
		cfg, err = os.ReadFile(filepath.Join(dir, "Data", config.Path("config", st.Build.BuildKey)))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write: %w", err)
	}
	for n := 0; ; n++ {
		data, err := os.ReadFile(filepath.Join(dir, "Data", "data", fmt.Sprintf("data.%03d", n)))
		if os.IsNotExist(err) {
			return cfg, stored, nil
		}
		for off := 0; off < len(data) && err == nil; {
			var h index.SpanHeader
			if h, err = index.ParseSpanHeader(data[off:], int64(off)); err != nil {
				break
			}
			if s := (Stored{EKey: h.Key, Encoded: data[off+index.SpanHeaderSize : off+int(h.Size)]}); len(s.Encoded) > 0 {
				if slices.Contains(root.EKeys, s.EKey) {
					s.CKey = ref.CKey
				}
				stored = append(stored, s)
			}
			off += int(h.Size)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("write: %w", err)
		}
	}
}
