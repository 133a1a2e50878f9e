// SPDX-License-Identifier: Apache-2.0

package server

import (
	_ "embed" // the document
	"net/http"
)

//go:embed openapi.json
var openAPI []byte

func (s *Server) showOpenAPI(w http.ResponseWriter, _ *http.Request, _ string) {
	(&answer{status: http.StatusOK, mediaType: "application/json", body: openAPI}).send(w)
}
