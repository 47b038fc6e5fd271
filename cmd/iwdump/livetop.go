package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/internal/top"
)

// keep is how many messages of each QP are kept to be looked at.
func (o *liveOptions) keep() int {
	if o.top {
		return top.Keep
	}
	return 0
}

// checkTop checks what --top goes with.
func (o *liveOptions) checkTop(cmd *cobra.Command) error {
	switch {
	case !o.top:
		return nil
	case o.json || o.verbose || o.dump || o.fpdus || o.interval > 0:
		return errors.New("--top excludes --json, --verbose, --hex, --fpdus and --interval")
	case !isTerminal(cmd.OutOrStdout()):
		return errors.New("--top needs a terminal")
	}
	o.quiet = true // what comes behind the screen is the overview
	return nil
}

// A screen is the screen of --top, from its start to its end.
type screen struct {
	program *tea.Program
	ended   chan struct{}
	held    bytes.Buffer // what is said meanwhile
	stderr  io.Writer
	err     error
}

// show puts up the screen. When the user leaves it the capture is stopped.
func (s *session) show() (*screen, error) {
	color, err := useColor(colorFlag(s.cmd), s.cmd.OutOrStdout())
	if err != nil {
		return nil, err
	}
	m := top.New(top.Options{Monitor: s.watch, Title: join(s.src.Names()), Color: color, ASCII: asciiOnly(), Counts: func() (received, dropped uint64) {
		c := s.src.Counts()
		return c.Received, c.Dropped
	}}, time.Now())
	x := &screen{ended: make(chan struct{}), stderr: s.stderr}
	s.stderr = &x.held
	x.program = tea.NewProgram(m, tea.WithoutSignalHandler(), tea.WithInput(s.cmd.InOrStdin()), tea.WithOutput(s.cmd.OutOrStdout()))
	go func() {
		defer close(x.ended)
		_, x.err = x.program.Run()
		s.src.Stop()
	}()
	return x, nil
}

// close takes the screen down, and says what was to be said.
func (x *screen) close(s *session) {
	x.program.Quit()
	<-x.ended
	s.stderr = x.stderr
	s.stderr.Write(x.held.Bytes())
	if x.err != nil {
		fmt.Fprintf(s.stderr, "iwdump: the screen: %v\n", x.err)
	}
}

func colorFlag(cmd *cobra.Command) string {
	when, _ := cmd.Flags().GetString("color")
	return when
}
