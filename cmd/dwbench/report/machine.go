package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine is where the results were made.
type Machine struct {
	OS     string `json:"os"`
	CPU    string `json:"cpu,omitempty"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory,omitempty"`
	Go     string `json:"go"`
}

// ThisMachine describes the machine this runs on; what cannot be read is left out.
func ThisMachine() Machine {
	return Machine{OS: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(),
		CPU: field("/proc/cpuinfo", "model name"), Memory: field("/proc/meminfo", "MemTotal")}
}

func field(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), name)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimLeft(line, " \t:")
}

func (m Machine) String() string {
	return fmt.Sprintf("%d cores of %s, %s memory, %s, %s", m.Cores, m.CPU, m.Memory, m.OS, m.Go)
}
