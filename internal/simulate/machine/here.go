package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// seatBytes is the number of bytes of an encoded ProcessorBinding, which spaces fill up.
const seatBytes = 512

// Encode encodes the binding as seatBytes bytes, so that ranks can gather them.
func (s ProcessorBinding) Encode() []byte {
	s.Host = s.Host[:min(len(s.Host), 255)]
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // can't fail: it has numbers and a string
	}
	return append(b, []byte(strings.Repeat(" ", max(0, seatBytes-len(b))))...)
}

// DecodeProcessorBinding reads what Encode wrote.
func DecodeProcessorBinding(b []byte) (s ProcessorBinding, err error) {
	if err = json.Unmarshal(b, &s); err != nil {
		return ProcessorBinding{}, fmt.Errorf("where a rank is: %w", err)
	}
	return s, nil
}

// OwnProcessorBinding returns where this process runs.
func OwnProcessorBinding() ProcessorBinding {
	host, _ := os.Hostname()
	status, _ := os.ReadFile("/proc/self/status")
	return seatOf("/sys/devices/system/cpu", host, string(status))
}

// seatOf returns where a process runs, from the kernel's description of processors in a folder and the process's
// status file.
func seatOf(folder, host, status string) ProcessorBinding {
	s := ProcessorBinding{Host: host, Socket: -1, Core: -1}
	number := func(cpu int, name string) int {
		text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("cpu%d", cpu), "topology", name))
		if n, e := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && e == nil {
			return n
		}
		return 0
	}
	online, _ := os.ReadFile(filepath.Join(folder, "online"))
	sockets, cores := make(map[int]int), make(map[[2]int]int)
	all := processors(strings.TrimSpace(string(online)))
	for _, cpu := range all {
		socket := number(cpu, "physical_package_id")
		sockets[socket]++
		cores[[2]int{socket, number(cpu, "core_id")}]++
	}
	s.HostProcessors, s.Sockets = len(all), len(sockets)
	if s.Sockets > 0 {
		s.PerSocket = s.HostProcessors / s.Sockets
	}
	if len(cores) > 0 {
		s.PerCore = s.HostProcessors / len(cores)
	}
	_, bound, _ := strings.Cut(status, "Cpus_allowed_list:")
	bound, _, _ = strings.Cut(bound, "\n")
	mine := processors(strings.TrimSpace(bound))
	for i, cpu := range mine {
		socket, core := number(cpu, "physical_package_id"), number(cpu, "core_id")
		if i == 0 {
			s.Socket, s.Core = socket, core
		}
		if socket != s.Socket {
			s.Socket, s.Core = -1, -1
			break
		}
		if core != s.Core {
			s.Core = -1
		}
	}
	return s
}

// processors reads a list of processors such as 0-3,8.
func processors(text string) (list []int) {
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(last); err != nil {
				continue
			}
		}
		for cpu := a; cpu <= b && len(list) < 1<<16; cpu++ {
			list = append(list, cpu)
		}
	}
	return list
}
