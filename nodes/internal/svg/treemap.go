package svg

// Squares divides a rectangle into parts whose areas are proportional to weights, and whose sides
// are as alike as that allows. The weights descend, and are not negative. It follows "Squarified
// Treemaps" (Bruls, Huizing, van Wijk, 2000).
func Squares(in Rect, weights []float64) []Rect {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	out := make([]Rect, 0, len(weights))
	for len(weights) > 0 && weights[0] > 0 && total > 0 {
		n, sum := row(in, weights, total)
		var taken []Rect
		taken, in = divide(in, weights[:n], sum, sum/total)
		out = append(out, taken...)
		weights, total = weights[n:], total-sum
	}
	for range weights { // they weigh nothing
		out = append(out, Rect{X: in.X, Y: in.Y})
	}
	return out
}

// row returns how many of the weights go along the shorter side, and their sum: as many as make
// their parts more alike to squares.
func row(in Rect, weights []float64, total float64) (n int, sum float64) {
	side := min(in.Width, in.Height)
	scale := in.Width * in.Height / total
	worst := 0.0
	for n < len(weights) {
		next := sum + weights[n]
		// The first part is the largest, and the last one the smallest.
		depth := next * scale / side
		ratio := max(weights[0]*scale/(depth*depth), depth*depth/(weights[n]*scale))
		if n > 0 && ratio > worst {
			break
		}
		worst, sum = ratio, next
		n++
	}
	return n, sum
}

// divide cuts a share of a rectangle off, and divides that. It returns the rest as well.
func divide(in Rect, weights []float64, sum, share float64) (parts []Rect, rest Rect) {
	rest = in
	wide := in.Width >= in.Height
	at := 0.0
	for _, w := range weights {
		r := in
		if wide {
			r.Width, r.Y, r.Height = in.Width*share, in.Y+in.Height*at, in.Height*w/sum
		} else {
			r.Height, r.X, r.Width = in.Height*share, in.X+in.Width*at, in.Width*w/sum
		}
		parts = append(parts, r)
		at += w / sum
	}
	if wide {
		rest.X, rest.Width = in.X+in.Width*share, in.Width*(1-share)
	} else {
		rest.Y, rest.Height = in.Y+in.Height*share, in.Height*(1-share)
	}
	return parts, rest
}
