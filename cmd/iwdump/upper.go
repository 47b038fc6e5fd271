package main

import (
	"fmt"

	"github.com/iwdump/iwdump/internal/decode"
)

const ulpHelp = "upper layer protocol: auto (found by content), none, or the name of the one that all QPs carry"

// upper is what --ulp stands for.
func (in *input) upper() (decode.Upper, error) {
	u, err := decode.ParseUpper(in.ulp)
	if err != nil {
		return decode.Upper{}, fmt.Errorf("--ulp: %w", err)
	}
	return u, nil
}
