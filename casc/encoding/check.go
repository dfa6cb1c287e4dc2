package encoding

import "context"

// CheckPages reads all pages, and calls bad for each that can't be read or breaks its format. An
// error of bad ends it.
func (e *File) CheckPages(ctx context.Context, bad func(error) error) error {
	if err := e.loadEncoded(ctx); err != nil {
		return bad(err)
	}
	for _, t := range []*pageTable{&e.content, &e.encoded} {
		if err := e.checkTable(ctx, t, bad); err != nil {
			return err
		}
	}
	return nil
}

// checkTable checks the pages of a table, as many at once as are best read so. If one of those is
// wrong they are read one by one.
func (e *File) checkTable(ctx context.Context, t *pageTable, bad func(error) error) error {
	step := max(1, min(e.atOnce(t), t.len()))
	pages := make([]byte, step*t.size)
	several := false
	for i := range t.len() {
		if i%step == 0 {
			several = step > 1 && e.readPage(ctx, t, i, pages[:min(step, t.len()-i)*t.size]) == nil
		}
		data := pages[i%step*t.size:][:t.size]
		var err error
		if !several {
			err = e.readPage(ctx, t, i, data)
		}
		if err == nil && t == &e.content {
			for _, wrong := range contentRows(tablePage{data, t.offset(i)}) {
				err = wrong
			}
		}
		if err == nil {
			err = ctx.Err()
		} else {
			err = bad(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
