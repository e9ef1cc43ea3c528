package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ax-scheduler/ax/dsl"
)

// python tells whether it can be seen which variables a script for Python reads:
// it asks for each by its name, imports nothing that may ask for others, and
// starts no program.
func (u *uses) python(t *dsl.Task) bool {
	if len(t.Shell.Argv) != 1 || !pythonName.MatchString(path.Base(t.Shell.Argv[0])) || pythonReaches().MatchString(t.Run.V) {
		return false
	}
	for _, sign := range []string{"environ", "getenv"} {
		if strings.Count(t.Run.V, sign) != len(pythonAsks()[sign].FindAllStringIndex(t.Run.V, -1)) {
			return false
		}
	}
	imports := pythonImports().FindAllStringSubmatch(t.Run.V, -1)
	if strings.Count(t.Run.V, "import") != len(imports) {
		return false
	}
	for _, m := range imports {
		for name := range strings.SplitSeq(m[1]+m[2], ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			name, _, _ = strings.Cut(name, ".")
			if !slices.Contains(plainModules, name) {
				return false
			}
		}
	}
	return true
}

// pythonAsks are the ways to ask for one variable that is written out.
var pythonAsks = sync.OnceValue(func() map[string]*regexp.Regexp {
	const literal = `\s*["'][A-Za-z0-9_]*["']\s*`
	return map[string]*regexp.Regexp{
		"environ": regexp.MustCompile(`\benviron(\[` + literal + `\]|\.get\(` + literal + `[,)])`),
		"getenv":  regexp.MustCompile(`\bgetenv\(` + literal + `[,)]`),
	}
})

// pythonImports finds modules by name.
var pythonImports = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|;)[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b[^;\n#]*|import[ \t]+([^;\n#]+))`)
})

// pythonReaches finds what starts programs, and what reaches a name that is put
// together.
var pythonReaches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(getattr|vars|globals|exec|eval|compile|system|popen|fork\w*|spawn\w*|exec[lv]\w*|posix_spawn\w*)\b|__`)
})

// plainModules are those of Python that read no variables of a workflow and
// start no program.
var plainModules = strings.Fields(`
	argparse base64 bisect calendar collections contextlib csv dataclasses datetime decimal difflib enum fractions functools
	getpass glob gzip hashlib heapq html http io itertools json logging math operator os pathlib pickle pprint random re
	secrets shutil socket sqlite3 statistics string struct sys tempfile textwrap time traceback types typing unicodedata
	urllib uuid warnings xml zipfile zlib zoneinfo`)
