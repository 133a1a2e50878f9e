// SPDX-License-Identifier: Apache-2.0

// Package server is the HTTP service: it decides who may ask, which project
// and which policy a request means, when it runs, and how it is answered. What
// runs a command is behind [Engine]. docs/http-api.md is its contract.
package server
