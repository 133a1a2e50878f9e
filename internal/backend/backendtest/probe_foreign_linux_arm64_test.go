// SPDX-License-Identifier: Apache-2.0

package backendtest

// foreignOperations: a 64-bit process has no other entry on arm64.
func foreignOperations() map[string]operation { return nil }
