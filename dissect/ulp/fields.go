package ulp

import "fmt"

// A FieldKind says what a Field holds.
type FieldKind uint8

const (
	Number FieldKind = iota // Num in decimal
	Hex                     // Num in hex, with Digits digits
	Flag                    // Num is 0 or 1
	Text                    // Text
	Object                  // the fields behind it that are one deeper are its own
	List                    // likewise, and they have no names
)

// A Field is a named value of a message, a command or a QP. Key names it in
// JSON, Label in the tree for people.
type Field struct {
	Key    string
	Label  string
	Kind   FieldKind
	Depth  uint8
	Digits uint8
	Num    uint64
	Text   string
	// Note is the meaning of Num in words, for people.
	Note string
	// From and Len say which octets of the message it stands in. Len is 0
	// where that is not told.
	From, Len int
}

// In notes which octets of the message the field stands in.
func (f *Field) In(from, n int) *Field {
	f.From, f.Len = from, n
	return f
}

// As notes what the number means.
func (f *Field) As(note string) *Field {
	f.Note = note
	return f
}

// Value is the value for people, without the note.
func (f *Field) Value() string {
	switch f.Kind {
	case Number:
		return fmt.Sprint(f.Num)
	case Hex:
		return fmt.Sprintf("0x%0*x", int(f.Digits), f.Num)
	case Flag:
		return fmt.Sprint(f.Num != 0)
	case Text:
		return f.Text
	}
	return ""
}

// Fields is a list of fields, in order. What is nested follows what it is in.
// Its zero value is empty. No more than maxFields are kept.
type Fields struct {
	// Off drops what is added, for those who do not want it.
	Off   bool
	List  []Field
	depth uint8
	spare Field // takes what there is no room for
}

// maxFields bounds what is said of one message.
const maxFields = 512

// maxDepth bounds how deep fields nest.
const maxDepth = 8

func (s *Fields) add(f Field) *Field {
	f.Depth = s.depth
	if s.Off || len(s.List) >= maxFields {
		s.spare = f
		return &s.spare
	}
	s.List = append(s.List, f)
	return &s.List[len(s.List)-1]
}

// Reset empties the list and keeps its memory.
func (s *Fields) Reset() { s.List, s.depth = s.List[:0], 0 }

// Uint adds a number that is shown in decimal.
func (s *Fields) Uint(key, label string, v uint64) *Field {
	return s.add(Field{Key: key, Label: label, Kind: Number, Num: v})
}

// Hex adds a number that is shown in hex, with leading zeros up to digits.
func (s *Fields) Hex(key, label string, v uint64, digits int) *Field {
	return s.add(Field{Key: key, Label: label, Kind: Hex, Num: v, Digits: uint8(min(max(digits, 1), 16))})
}

// STag adds an STag, or another number of 32 bits in hex.
func (s *Fields) STag(key, label string, v uint32) *Field { return s.Hex(key, label, uint64(v), 8) }

// TO adds a tagged offset, or another number of 64 bits in hex.
func (s *Fields) TO(key, label string, v uint64) *Field { return s.Hex(key, label, v, 16) }

// Bool adds a flag.
func (s *Fields) Bool(key, label string, v bool) *Field {
	n := uint64(0)
	if v {
		n = 1
	}
	return s.add(Field{Key: key, Label: label, Kind: Flag, Num: n})
}

// Text adds text. It may hold what came from the wire: whoever prints it
// escapes it.
func (s *Fields) Text(key, label, v string) *Field {
	return s.add(Field{Key: key, Label: label, Kind: Text, Text: v})
}

// Open adds an object: what is added until Close is in it. In a list, key is
// empty.
func (s *Fields) Open(key, label string) *Field {
	f := s.add(Field{Key: key, Label: label, Kind: Object})
	s.depth = min(s.depth+1, maxDepth)
	return f
}

// OpenList adds a list: what is added until Close are its elements, whose keys
// are empty.
func (s *Fields) OpenList(key, label string) *Field {
	f := s.add(Field{Key: key, Label: label, Kind: List})
	s.depth = min(s.depth+1, maxDepth)
	return f
}

// Close ends the innermost object or list.
func (s *Fields) Close() {
	if s.depth > 0 {
		s.depth--
	}
}

// Get returns the outermost field of a key, nil where there is none.
func (s *Fields) Get(key string) *Field {
	for i := range s.List {
		if f := &s.List[i]; f.Depth == 0 && f.Key == key {
			return f
		}
	}
	return nil
}

// Clone returns a copy that shares no memory.
func (s *Fields) Clone() Fields {
	return Fields{Off: s.Off, List: append([]Field(nil), s.List...), depth: s.depth}
}
