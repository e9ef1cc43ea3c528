// Package docs is the manual. It holds pages and no code; its tests hold the
// pages against the code that they are about, and must not be imported.
//
// # Examples
//
// Every block of YAML in the manual and in README.md that has `tasks:` is a
// whole workflow and passes `ax lint`. Its first line may be a comment with a
// command; then the block of text right behind it is what comes of that:
//
//	# ax run FILE [-p NAME=VALUE] [--only TASK,…] [--scheduled-for T]
//	# ax next FILE [-n N] [--after T]
//	# ax lint FILE [--format github]
//
// Variables may stand before `ax`, as in a shell. A block behind a line that
// ends with the name of a file and a colon, such as `holidays.txt`:, is a file
// beside the next workflow of its section. Nothing may be wrong with a workflow
// but what `ax lint` is shown to say of it.
//
// `go test ./docs -update` writes what comes of the commands into the pages.
package docs
