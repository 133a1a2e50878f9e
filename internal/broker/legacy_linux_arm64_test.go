// SPDX-License-Identifier: Apache-2.0

package broker

// legacyCalls: this architecture has none of them.
func legacyCalls(int, int, memory) []metadataCall { return nil }

const sysRenameat2 = 276

func legacyRandomly(*dice) []randomly { return nil }
