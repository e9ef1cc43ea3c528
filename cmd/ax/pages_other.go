//go:build !linux

package main

// dropPages lets go of pages of the binary where that is known how to do.
func dropPages() {}
