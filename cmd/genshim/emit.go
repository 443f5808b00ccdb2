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

// page is the template's data for a call.
type page struct {
	ID                   uint16
	Name, Short, Return  string
	EnterHead, LeaveHead string
	Prototype, Args      string
	Params               string // all parameters as 64-bit values
	Result               string // declaration of what the function returned
	Recorded             string // further parameters of the recording functions, as declarations
	RecordedArgs         string // the names of these parameters
	Declared             string // declarations of further parameters, with a leading comma
	More                 string // further arguments, with a leading comma
	Enter, Leave         code
	Code, Handwritten    bool
	Handles              int
	Rooms                []room
	Status               *status
}

type code struct{ Before, Parts []string }

// A room is a parameter whose value on entry is needed after the call.
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

// statuses is the number of statuses that the call may fill: one for each request, if the length is known only on
// return.
func (g *call) statuses(s *mpi.Param) (string, error) {
	for _, p := range g.params {
		if p.Kind == mpi.KindRequest && p.Array {
			return g.length(p.Len)
		}
	}
	return g.length(s.Len)
}
