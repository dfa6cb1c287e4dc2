package mounted

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/datacenter/patch"
)

// patchText is a piece of the text of a patch. Such frames follow the request.
type patchText struct {
	// More says that the text goes on in the next frame.
	More bool   `json:"more,omitempty"`
	Text []byte `json:"text"`
}

// maxPatches is the largest number of bytes of all patches of a request together. The mount
// has them in memory, and a record of the journal has 64 MiB at most.
const maxPatches = 256 << 20

// errPatches means that the patches of a request are too long.
var errPatches = fmt.Errorf("the patches have more than %d bytes: apply them to the file, or one after the other", maxPatches)

// Apply applies patches to what is mounted with a [daemon.Name]. If the answer has an error,
// the results are those of the patches that were applied.
func Apply(ctx context.Context, name string, p *dckind.Patching) (done *dckind.Patched, a Answer, err error) {
	r := daemon.Request{Do: daemon.Apply, DryRun: p.DryRun, Open: p.Open, Prefer: p.Prefer.Order}
	done = &dckind.Patched{Settlement: &patch.Settlement{}}
	texts, size := [][]byte{}, 0
	for _, one := range p.Patches {
		text := one.Append(nil)
		r.Paths, texts = append(r.Paths, one.Name), append(texts, text)
		if size += len(text); size > maxPatches {
			return done, a, errPatches
		}
	}
	line, err := daemon.Talk(name, r)
	if err != nil {
		return done, a, err
	}
	stop := context.AfterFunc(ctx, func() { line.Close() }) // then the mount gives up as well
	defer stop()
	var out bytes.Buffer
	a, err = exchange(line, texts, &out)
	closeErr := line.Close()
	if ctx.Err() != nil {
		return done, a, ctx.Err()
	}
	if err = errors.Join(err, closeErr); err == nil {
		done, err = readPatched(p.Patches, &out)
	}
	return done, a, err
}

// exchange sends the texts of patches, and reads the answer and its output.
func exchange(line *daemon.Line, texts [][]byte, out *bytes.Buffer) (Answer, error) {
	for _, text := range texts {
		for piece := range slices.Chunk(text, dataAtOnce) {
			if err := line.Send(patchText{More: true, Text: piece}); err != nil {
				return Answer{}, err
			}
		}
		if err := line.Send(patchText{}); err != nil {
			return Answer{}, err
		}
	}
	return NextAnswer(line, func(a *Answer) error {
		out.Write(a.Data)
		return nil
	})
}

// readPatched reads what the mount sent: what the patches share, and a list of items for each of them.
func readPatched(patches []*patch.Patch, out *bytes.Buffer) (*dckind.Patched, error) {
	done := &dckind.Patched{Settlement: &patch.Settlement{}}
	lists := json.NewDecoder(out)
	if lists.More() {
		if err := lists.Decode(done.Settlement); err != nil {
			return done, err
		}
	}
	for lists.More() {
		var items []patch.Item
		if err := lists.Decode(&items); err != nil {
			return done, err
		}
		of := patches[min(len(done.Results), len(patches)-1)]
		for i := range items {
			if !items[i].IsOf(of) {
				return done, fmt.Errorf("the mount answers about block %d of %s, which there is not", items[i].Block, of.Name)
			}
			items[i].At = of.LineOf(&items[i]) // the mount had the patch as it was sent
		}
		done.Results = append(done.Results, patch.NewResult(of, items))
	}
	return done, nil
}

// apply answers a request to apply patches.
func (m *Mount) apply(ctx context.Context, r *daemon.Request, c *daemon.Client) Answer {
	patches, err := readPatches(ctx, r.Paths, c)
	if err != nil {
		return m.failing(Answer{}, err)
	}
	done, err := dckind.ApplyPatches(ctx, m.source, &dckind.Patching{
		Patches: patches, Prefer: patch.Preference{Order: r.Prefer}, Open: r.Open, DryRun: r.DryRun,
	})
	if errors.Is(err, kinds.ErrReadOnly) {
		return Answer{Error: fmt.Sprintf("%s is mounted read-only", m.opts.Dir)}
	}
	out := bufio.NewWriterSize(output{c}, dataAtOnce)
	lists := json.NewEncoder(out)
	if done != nil {
		err = errors.Join(err, lists.Encode(done.Settlement))
		for _, result := range done.Results {
			err = errors.Join(err, lists.Encode(result.Items))
		}
	}
	return m.failing(Answer{}, errors.Join(err, out.Flush()))
}

// readPatches reads the patches that follow a request.
func readPatches(ctx context.Context, names []string, c *daemon.Client) (patches []*patch.Patch, err error) {
	size := 0
	for _, name := range names {
		var text []byte
		for more := true; more; {
			var piece patchText
			if err := c.Next(ctx, &piece); err != nil {
				return nil, err
			}
			if size += len(piece.Text); size > maxPatches {
				return nil, errPatches
			}
			text, more = append(text, piece.Text...), piece.More
		}
		p, err := patch.Parse(name, text)
		if err != nil {
			return nil, err
		}
		patches = append(patches, p)
	}
	return patches, nil
}
