// SPDX-License-Identifier: Apache-2.0

// Command count prints the number of different words in its arguments.
package main

import (
	"fmt"
	"os"
	"strings"

	"lab.invalid/words/words"
)

func main() {
	fmt.Println(len(words.Count(strings.Join(os.Args[1:], " "))))
}
