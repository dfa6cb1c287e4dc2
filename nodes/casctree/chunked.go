package casctree

const (
	// chunkBits sets how many values of a list, or bytes of an arena, are allocated at
	// once, so that growing copies nothing.
	chunkBits = 16
	chunkSize = 1 << chunkBits
)

// list is a list that grows by whole pieces.
type list[T any] struct {
	chunks [][]T
	len    int
}

// add adds a zero value and returns it.
func (l *list[T]) add() *T {
	if l.len>>chunkBits == len(l.chunks) {
		l.chunks = append(l.chunks, make([]T, chunkSize))
	}
	l.len++
	return l.at(l.len - 1)
}

func (l *list[T]) at(i int) *T { return &l.chunks[i>>chunkBits][i&(chunkSize-1)] }

// arena keeps names, each of up to maxName bytes, in one piece.
type arena struct {
	chunks [][]byte
}

// add keeps a name and returns its place.
func (a *arena) add(name []byte) (at uint32, ok bool) {
	last := len(a.chunks) - 1
	if last < 0 || len(a.chunks[last])+len(name) > chunkSize {
		a.chunks = append(a.chunks, make([]byte, 0, chunkSize))
		last++
	}
	at = uint32(last<<chunkBits | len(a.chunks[last]))
	a.chunks[last] = append(a.chunks[last], name...)
	return at, last < 1<<(32-chunkBits)
}

func (a *arena) get(at uint32, n int) []byte {
	return a.chunks[at>>chunkBits][at&(chunkSize-1):][:n]
}
