package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// An interrupt is a wish to end early: Ctrl-C or SIGTERM. The first ends reading
// at the next block, so that what was read is summarised, the second all at
// once.
type interrupt struct {
	came    atomic.Bool
	signals chan os.Signal
}

func watchInterrupts() *interrupt {
	i := &interrupt{signals: make(chan os.Signal, 2)}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range i.signals {
			if i.came.Swap(true) {
				os.Exit(130) // as a shell says of a program that SIGINT ended
			}
		}
	}()
	return i
}

func (i *interrupt) stop() {
	signal.Stop(i.signals)
	close(i.signals)
}
