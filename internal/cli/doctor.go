// SPDX-License-Identifier: Apache-2.0

package cli

func (a *App) doctor(args []string) int { return exitFailed }
