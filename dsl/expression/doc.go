// Package expression is the language of ${{ … }}, of when, retry.if and
// foreach: it checks expressions for lint and evaluates them for runs.
//
// It must not read files, clocks or the environment: everything that an
// expression can see is given to it, and evaluating twice gives the same.
//
// # The language
//
// Strings in single, double or back quotes, numbers, true, false, nil, lists
// [a, b] and maps {a: 1}. Operators, from the weakest: ?: · or || · and && ·
// == != < <= > >= in matches contains startsWith endsWith (each of the last
// five also with not before it) · .. · + - · not ! · * / % · the signs · ??.
// A pipe hands a value to a function: x | upper(). Parts are chosen by x.name, x["name"], x[0], x[-1], x[1:3], and by x?.name
// where they may be missing. Functions are those of Functions; within filter,
// map, all, any, none, count and find, # is the item, and .name a part of it.
//
// Names are params.NAME, env.NAME, secrets.NAME, run.FIELD,
// tasks.ID.state, .error, .exit_code and .outputs.KEY, item and index. A name
// may have hyphens. Where a hyphen could be a minus as well, the longest known
// name wins; with blanks around it, it is always a minus.
//
// Outputs, variables and secrets are strings; int, float, bool, json and others
// make more of them. Types are checked as far as they are known before a run,
// and never guessed: "3" is not 3. What is missing (an output that was not
// written, a part of JSON that is not there, null) is an error that names it,
// unless ?? or default give another value, or it is compared with nil. Numbers
// do not overflow, and nothing is divided by zero: both are errors.
//
// A time is shown and counted in the workflow's zone. Where a date meets a
// time, it stands for the beginning of its day.
//
// There is no escape for ${{ in texts: write ${{ "${{" }}.
//
// # Why the evaluator is our own
//
// The grammar is that of github.com/expr-lang/expr, whose parser is used. Its
// virtual machine has no limit of cost and cannot be stopped, counts overflow
// silently, takes missing keys for nil, and lets methods of Go types through.
// Here every evaluation has a budget that bounds time and memory, whatever is
// in the expression; a test holds the results against those of that machine.
//
// # Scripts
//
// In a script for sh or bash an expression never becomes part of the text. It
// becomes a reference to a variable with the value, quoted as its place needs:
// see CompileScript. A place where the value would not arrive as exactly one
// word, or would be read again as code, pattern, number or name by the shell,
// is a fault; other interpreters' scripts cannot have expressions at all.
package expression
