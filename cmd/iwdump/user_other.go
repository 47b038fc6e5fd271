//go:build !unix

package main

import "errors"

func dropPrivileges(string) error { return errors.New("this system has no such users") }
