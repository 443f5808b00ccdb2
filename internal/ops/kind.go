package ops

var kindNames = [...]string{
	Send: "send", SendBegin: "send begin", SendEnd: "send end", Recv: "receive", RecvBegin: "receive begin", RecvEnd: "receive end",
	Tested: "tested", Cancelled: "cancelled", Collective: "collective", CollectiveBegin: "collective begin", CollectiveEnd: "collective end",
	CommMade: "communicator made", CommFreed: "communicator freed", WindowMade: "window made", WindowFreed: "window freed",
	Put: "put", Get: "get", Atomic: "atomic", TransferEnd: "transfer end", TransferDone: "transfer done", Fence: "fence",
	Lock: "lock", Unlock: "unlock", FileOpened: "file opened", FileClosed: "file closed", FileSought: "seek", FileDeleted: "file deleted",
	Read: "read", ReadBegin: "read begin", ReadEnd: "read end", Write: "write", WriteBegin: "write begin", WriteEnd: "write end",
	Awaited: "awaited",
}

func (k Kind) String() string { return kindNames[k] }
