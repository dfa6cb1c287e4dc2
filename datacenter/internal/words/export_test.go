package words

import "testing"

// OtherOrder has a test run as on a processor of another order.
func OtherOrder(t *testing.T) {
	before := sameOrder
	sameOrder = false
	t.Cleanup(func() { sameOrder = before })
}
