package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNetworkFileSystems(t *testing.T) {
	for magic, want := range map[uint32]string{0x6969: "nfs", 0xff534d42: "smb", 0xfe534d42: "smb", 0x01021997: "9p", 0xef53: "", 0x01021994: "", 0x58465342: ""} {
		require.Equal(t, want, fsName(magic))
	}
	name, err := networkFS(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, name)
	_, err = networkFS("/does/not/exist")
	require.Error(t, err)
}
