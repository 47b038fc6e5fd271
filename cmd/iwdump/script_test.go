package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"iwdump": main})
}

// The scripts run the program as a user does. PCAPS is where the captures are.
func TestScript(t *testing.T) {
	pcaps, err := filepath.Abs("../../testdata/pcaps")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PCAPS", pcaps)
			e.Setenv("LC_ALL", "C.UTF-8")
			e.Setenv("PATH", os.Getenv("PATH"))
			return nil
		},
		RequireExplicitExec: true,
	})
}
