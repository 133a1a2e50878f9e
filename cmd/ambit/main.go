// SPDX-License-Identifier: Apache-2.0

// Command ambit runs commands within a policy that the kernel enforces.
package main

import (
	"os"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/cli"
)

func main() {
	ambit.Dispatch(os.Args)
	os.Exit(cli.Main(os.Args[1:]))
}
