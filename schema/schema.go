// Package schema is the JSON Schema (draft 2020-12) of a workflow file, for
// editors and other tools that check and complete YAML.
//
// It is made from what package dsl says of its keys, and knows of each key in
// addition what to tell a reader. It decides nothing: where the two differ, the
// parser is right. It must not read files, nor import anything but dsl.
//
// # Scalars
//
// An editor reads a file by the core schema of YAML 1.2 before it looks at
// this one, while the language reads texts as they are written. So every text
// may also be a number or a boolean: `BRANCH: 007` and `COUNTRY: true` are
// texts that an editor takes for something else. Numbers, booleans and
// durations may be strings, as quotes around them mean nothing. Beyond that the
// schema cannot see how a value was written: 0x10 is a number to it, where the
// parser wants decimal digits. A plain ~ or null is no text, for it nor for the
// parser: nearly always a value is missing.
package schema

import (
	"bytes"
	_ "embed"
)

//go:embed workflow.schema.json
var embedded []byte

// Text gives the schema as JSON: what Generate makes, as it was when the
// program was built.
func Text() []byte { return bytes.Clone(embedded) }
