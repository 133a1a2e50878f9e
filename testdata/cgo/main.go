// SPDX-License-Identifier: Apache-2.0

// Command cgo runs a command from a program that is linked with the C library,
// whose threads are made in another way than Go's.
package main

import "C"

import (
	"context"
	"fmt"
	"os"

	"github.com/ambit-sandbox/ambit"
)

func main() {
	ambit.Dispatch(os.Args)
	if err := run(os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(how string) error {
	c := &ambit.Command{Argv: []string{"/bin/echo", how}, Stdout: os.Stdout, Stderr: os.Stderr}
	switch how {
	case "dedicated":
		c.Exclusive, c.Dedicated = true, true
	case "prepared":
		p, err := ambit.Prepare()
		if err != nil {
			return err
		}
		_, err = p.Run(context.Background(), c)
		return err
	}
	_, err := ambit.Run(context.Background(), c)
	return err
}
