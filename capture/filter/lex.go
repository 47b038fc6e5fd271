package filter

import (
	"fmt"
	"strings"
)

// An Error says what is wrong with an expression, and where.
type Error struct {
	Expr   string
	Column int // of the first octet that is wrong, from 1
	Msg    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("capture filter, column %d: %s", e.Column, e.Msg)
}

// A token is a word, a number, an address or an operator.
type token struct {
	text string
	at   int // in the expression
}

const operators = "()[]:+-*/%&|^<>=!"

// lex takes an expression apart. IPv6 addresses have colons, and names hyphens:
// a run of letters, digits, dots and these is one word, except behind a bracket.
func lex(expr string) []token {
	var ts []token
	depth := 0
	for i := 0; i < len(expr); {
		c := expr[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.IndexByte(operators, c) >= 0 && (c != ':' || depth > 0 || !strings.HasPrefix(expr[i:], "::")):
			n := 1
			for _, two := range [...]string{"&&", "||", "<<", ">>", "<=", ">=", "==", "!="} {
				if strings.HasPrefix(expr[i:], two) {
					n = 2
				}
			}
			switch c {
			case '[':
				depth++
			case ']':
				depth--
			}
			ts = append(ts, token{expr[i : i+n], i})
			i += n
			continue
		}
		j := i
		for j < len(expr) && part(expr, j, depth) {
			j++
		}
		if j == i {
			j++ // an octet that nothing begins with
		}
		ts = append(ts, token{expr[i:j], i})
		i = j
	}
	return ts
}

// part says whether the octet at j goes on with a word.
func part(expr string, j, depth int) bool {
	c := expr[j]
	switch {
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '.', c == '_':
		return true
	case c == ':':
		return depth == 0
	case c == '-':
		// tcp-syn and 80-90 are words, tcp[0]-1 is a difference.
		return depth == 0 && j+1 < len(expr) && expr[j+1] != ' ' || j > 0 && letter(expr[j-1])
	case c == '/':
		return depth == 0 && j+1 < len(expr) && expr[j+1] >= '0' && expr[j+1] <= '9'
	}
	return false
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
