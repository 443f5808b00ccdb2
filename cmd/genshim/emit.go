package main

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/spoor-hpc/spoor/mpi"
)

//go:embed wrapper.tmpl
var wrapperText string

var wrapper = template.Must(template.New("wrapper").Parse(wrapperText))

// page is what wrapper.tmpl needs to know of a function.
type page struct {
	ID                   uint16
	Name, Short, Return  string
	EnterHead, LeaveHead string
	Prototype, Args      string
	Params               string // expressions of all arguments as 64-bit numbers, separated by commas
	Result               string // declaration of rc_, the function's result
	Recorded             string // declarations of the function's parameters but "...", each after a comma
	RecordedArgs         string // names of the function's parameters but "...", each after a comma
	Declared             string // declarations of the function's parameters, each after a comma
	More                 string // Args after a comma; "" if there are no arguments
	Enter, Leave         code
	Code, Handwritten    bool
	Handles              int
	Rooms                []room
	Status               *status
}

type code struct{ Before, Parts []string }

// A room is a parameter of rooms: its name, and the C function that reads its value on entry.
type room struct{ Name, Load string }

type status struct {
	Name, Count string
	Array       bool
}

func (g *call) emit() (string, error) {
	enter, err := g.body(entering)
	if err != nil {
		return "", err
	}
	leave := newBody()
	if !g.returnsCode() {
		g.result(leave)
	}
	if err := g.fill(leave, leaving); err != nil {
		return "", err
	}
	g.aux(leave)
	g.memory(enter, leave)
	args := strings.Join(g.arguments(), ", ")
	p := page{
		ID: g.ID, Name: g.Name, Short: g.short(), Return: g.returnType(),
		EnterHead: g.enterHead(), LeaveHead: g.leaveHead(), Prototype: g.prototype(), Args: args,
		Enter: code{enter.before, enter.parts}, Leave: code{leave.before, leave.parts},
		Code: g.returnsCode(), Handwritten: handwritten[g.Name], Handles: g.handles(),
	}
	for _, d := range g.declarations() {
		p.Declared += ", " + d
	}
	p.Params = g.asNumbers()
	p.Result = declare(g.returnType(), "rc_")
	for _, d := range g.recorded() {
		p.Recorded += ", " + d
	}
	for _, a := range g.arguments() {
		p.RecordedArgs += ", " + a
	}
	if args != "" {
		p.More = ", " + args
	}
	for _, r := range g.rooms() {
		p.Rooms = append(p.Rooms, room{r.Name, load(g.Width(r))})
	}
	if s := g.ignorable(); s != nil {
		p.Status = &status{Name: s.Name, Array: s.Array}
		if s.Array {
			if p.Status.Count, err = g.statuses(s); err != nil {
				return "", err
			}
		}
	}
	var b strings.Builder
	if err := wrapper.Execute(&b, p); err != nil {
		return "", err
	}
	return b.String(), nil
}

// statuses returns a C expression of the largest number of statuses that the call may fill: the number of requests
// passed, as the number completed (MPI_Waitsome) is known only on return.
func (g *call) statuses(s *mpi.Param) (string, error) {
	for _, p := range g.params {
		if p.Kind == mpi.KindRequest && p.Array {
			return g.length(p.Len)
		}
	}
	return g.length(s.Len)
}
