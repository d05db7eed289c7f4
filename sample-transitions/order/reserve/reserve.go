// The order's second step, in Go: sets the goods aside.
package main

import (
	"fmt"

	"github.com/wedflow/wedflow/guest-sdk/go"
)

// What is in stock, and on which shelf. Stands for a warehouse that would be asked.
var stock = map[string]struct {
	shelf int
	left  int32
}{
	"tea":    {3, 40},
	"coffee": {4, 12},
	"teapot": {11, 2},
}

type order struct {
	Item     string `wed:"item"`
	Quantity int32  `wed:"quantity"`
}

func reserve(job *wedflow.Job, o order) (*wedflow.Change, error) {
	goods, known := stock[o.Item]
	if !known || goods.left < o.Quantity {
		wedflow.Log(wedflow.Warn, "out of stock", "item", o.Item, "left", goods.left)
		return wedflow.Set("reservation", "none"), nil
	}
	return wedflow.Set("reservation", fmt.Sprintf("shelf %d for order %d", goods.shelf, job.WID)), nil
}

func init() {
	wedflow.Component("order_reserve",
		wedflow.Transition("reserve", reserve,
			wedflow.Describe("Sets the goods of an order aside"),
			wedflow.Writes("reservation text")))
}

func main() {}
