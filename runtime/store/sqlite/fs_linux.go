package sqlite

import (
	"fmt"
	"syscall"
)

// networkFS names a network file system by its statfs magic, "" for others. Write-ahead logging
// needs memory shared by all processes of a file, which those cannot give.
func networkFS(dir string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", fmt.Errorf("sqlite: statfs %s: %w", dir, err)
	}
	return fsName(uint32(st.Type)), nil
}

func fsName(magic uint32) string {
	switch magic {
	case 0x6969:
		return "nfs"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "smb"
	case 0x00c36400:
		return "ceph"
	case 0x5346414f, 0x6b414653:
		return "afs"
	case 0x01021997:
		return "9p"
	case 0x0bd00bd0:
		return "lustre"
	case 0x47504653:
		return "gpfs"
	}
	return ""
}
