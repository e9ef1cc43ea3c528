package server

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/dsl"
)

// knownQuery refuses a request with a parameter in its address that the route does
// not know: a filter with a slip in its name would list everything, and a
// `?dry_run=true` do what was only to be tried.
func knownQuery(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		var known []string
		for _, p := range ctx.Operation().Parameters {
			if p.In == "query" {
				known = append(known, p.Name)
			}
		}
		given := ctx.URL()
		for name := range given.Query() {
			if !slices.Contains(known, name) {
				_ = huma.WriteErr(api, ctx, http.StatusBadRequest, unknownQuery(name, known)) // the client may have gone
				return
			}
		}
		next(ctx)
	}
}

func unknownQuery(name string, known []string) string {
	if len(known) == 0 {
		return fmt.Sprintf("the address has a parameter %q: this route takes none there", name)
	}
	return fmt.Sprintf("the address has a parameter %q: %s", name, dsl.Meant(name, known))
}
