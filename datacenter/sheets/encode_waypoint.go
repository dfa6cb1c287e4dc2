package sheets

import (
	"slices"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// waypoint is where the reading of a sheet ended, so that it can go on there. It holds
// the way from the sheet to the node at hand.
type waypoint struct {
	sheet  edit.Number
	edit   int64
	at     int64
	rest   []byte // what was made of the text from at on
	frames []waypointFrame
	groups []group
	used   uint64
}

// waypointFrame is a frame without what belongs to an encoder.
type waypointFrame struct {
	frame
	addr datacenter.Address
}

// waypoint notes where an encoder is.
func (r *sheetReader) waypoint() *waypoint {
	p := &waypoint{
		sheet: r.v.sheet.Number, edit: r.v.edit, at: r.at, rest: slices.Clone(r.rest),
		frames: make([]waypointFrame, len(r.e.stack)), groups: slices.Clone(r.e.groups),
	}
	for i, f := range r.e.stack {
		p.frames[i] = waypointFrame{frame: f, addr: f.node.Address()}
		p.frames[i].node, p.frames[i].batchLen = datacenter.Node{}, 0
	}
	return p
}

// restore puts an encoder to a place.
func (e *encoder) restore(p *waypoint) error {
	e.groups = append(e.groups[:0], p.groups...)
	for i := range p.frames {
		f := p.frames[i].frame
		if f.draft == nil {
			var err error
			if f.node, err = e.file.Node(p.frames[i].addr); err != nil {
				return err
			}
		}
		e.stack = append(e.stack, f)
	}
	return nil
}

// maxWaypoints is how many waypoints are remembered. Each takes some KB.
const maxWaypoints = 256

// waypoints are those that were used last.
type waypoints struct {
	mu   sync.Mutex
	all  []*waypoint
	used uint64
}

// nearest gives the last place before an offset of a sheet, nil if there is none.
func (c *waypoints) nearest(v view, off int64) *waypoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *waypoint
	for _, p := range c.all {
		if p.sheet == v.sheet.Number && p.edit == v.edit && p.at <= off && (best == nil || p.at > best.at) {
			best = p
		}
	}
	if best != nil {
		c.used++
		best.used = c.used
	}
	return best
}

// keep remembers a place instead of the one that was not used for longest.
func (c *waypoints) keep(p *waypoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used++
	p.used = c.used
	if len(c.all) < maxWaypoints {
		c.all = append(c.all, p)
		return
	}
	oldest := 0
	for i := range c.all {
		if c.all[i].used < c.all[oldest].used {
			oldest = i
		}
	}
	c.all[oldest] = p
}
