//go:build unix

package main

import (
	"fmt"
	"os/user"
	"strconv"
	"syscall"
)

// dropPrivileges goes on as another user, in all threads and for good.
func dropPrivileges(name string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return fmt.Errorf("there is no such user (%w)", err)
	}
	uid, errUID := strconv.Atoi(u.Uid)
	gid, errGID := strconv.Atoi(u.Gid)
	if errUID != nil || errGID != nil {
		return fmt.Errorf("the user has no numbers: %s, %s", u.Uid, u.Gid)
	}
	if syscall.Getuid() == uid && syscall.Geteuid() == uid {
		return nil
	}
	if err := syscall.Setgroups([]int{gid}); err != nil {
		return fmt.Errorf("setting the groups: %w", err)
	}
	if err := syscall.Setgid(gid); err != nil {
		return fmt.Errorf("setting the group %d: %w", gid, err)
	}
	if err := syscall.Setuid(uid); err != nil {
		return fmt.Errorf("setting the user %d: %w", uid, err)
	}
	return nil
}
