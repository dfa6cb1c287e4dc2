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

// Patching is a request to apply patches to what is mounted.
type Patching struct {
	// Patches are in the order in which they are applied.
	Patches []*patch.Patch
	// DryRun changes nothing.
	DryRun bool
}

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
func Apply(ctx context.Context, name string, p *Patching) (results []*patch.Result, a Answer, err error) {
	r := daemon.Request{Do: daemon.Apply, DryRun: p.DryRun}
	texts, size := [][]byte{}, 0
	for _, one := range p.Patches {
		text := one.Append(nil)
		r.Paths, texts = append(r.Paths, one.Name), append(texts, text)
		if size += len(text); size > maxPatches {
			return nil, a, errPatches
		}
	}
	line, err := daemon.Talk(name, r)
	if err != nil {
		return nil, a, err
	}
	stop := context.AfterFunc(ctx, func() { line.Close() }) // then the mount gives up as well
	defer stop()
	var out bytes.Buffer
	a, err = exchange(line, texts, &out)
	closeErr := line.Close()
	if ctx.Err() != nil {
		return nil, a, ctx.Err()
	}
	if err = errors.Join(err, closeErr); err == nil {
		results, err = p.results(&out)
	}
	return results, a, err
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

// results reads the results that the mount sent: a list of items for each patch.
func (p *Patching) results(out *bytes.Buffer) (results []*patch.Result, err error) {
	lists := json.NewDecoder(out)
	for lists.More() {
		var items []patch.Item
		if err := lists.Decode(&items); err != nil {
			return nil, err
		}
		of := p.Patches[min(len(results), len(p.Patches)-1)]
		for i := range items {
			if !items[i].IsOf(of) {
				return nil, fmt.Errorf("the mount answers about block %d of %s, which there is not", items[i].Block, of.Name)
			}
			items[i].At = of.LineOf(&items[i]) // the mount had the patch as it was sent
		}
		results = append(results, patch.NewResult(of, items))
	}
	return results, nil
}

// apply answers a request to apply patches.
func (m *Mount) apply(ctx context.Context, r *daemon.Request, c *daemon.Client) Answer {
	patches, err := readPatches(ctx, r.Paths, c)
	if err != nil {
		return m.failing(Answer{}, err)
	}
	results, err := dckind.ApplyPatches(ctx, m.source, patches, r.DryRun)
	if errors.Is(err, kinds.ErrReadOnly) {
		return Answer{Error: fmt.Sprintf("%s is mounted read-only", m.opts.Dir)}
	}
	out := bufio.NewWriterSize(output{c}, dataAtOnce)
	lists := json.NewEncoder(out)
	for _, result := range results {
		err = errors.Join(err, lists.Encode(result.Items))
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
