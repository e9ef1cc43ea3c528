package dsl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var envFileName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// EnvFile reads the text of a dotenv file into NAME=value: lines NAME=value,
// `export` allowed before them, # comments, values bare, in single quotes (as
// they are) or in double quotes (with \n, \t, \", \\ and \$). Nothing is
// expanded. Errors begin with the path and where possible the line; they do not
// quote it, since it may be a secret's.
func EnvFile(path string, text []byte) ([]string, error) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("%s is not UTF-8 text", path)
	}
	var vars []string
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	lines.Buffer(nil, len(text)+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		if !ok || !envFileName.MatchString(name) {
			return nil, fmt.Errorf("%s:%d: this line is no NAME=value", path, n)
		}
		value, err := envValue(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", path, n, name, err)
		}
		vars = append(vars, name+"="+value)
	}
	return vars, lines.Err()
}

func envValue(text string) (string, error) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		bare, _, _ := strings.Cut(text, " #")
		return strings.TrimSpace(bare), nil
	}
	quote := text[0]
	var value strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			if rest := strings.TrimSpace(text[i+1:]); rest != "" && rest[0] != '#' {
				return "", errors.New("there is text after the closing quote")
			}
			return value.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				value.WriteByte('\n')
			case 't':
				value.WriteByte('\t')
			case '"', '\\', '$':
				value.WriteByte(text[i])
			default:
				value.WriteString(text[i-1 : i+1])
			}
		default:
			value.WriteByte(c)
		}
	}
	return "", fmt.Errorf("no closing %c", quote)
}
