package replace

import (
	"bufio"
	"io"
	"os"
)

// writeSize is how much is handed to the system at once. Cancelling is noticed
// as often.
const writeSize = 1 << 20

// writeAll runs write on a buffered writer to f. Errors of writing are found also
// if write does not look at them.
func (r *replacement) writeAll(f *os.File, s Step, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(&stepWriter{r: r, f: f, step: s}, writeSize)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// stepWriter makes each write to a file a step.
type stepWriter struct {
	r    *replacement
	f    *os.File
	step Step
}

func (w *stepWriter) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if err := w.r.begin(w.step); err != nil {
			return done, err
		}
		n, err := w.f.Write(p[done:min(len(p), done+writeSize)])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
