package sqlitefile

import (
	"encoding/binary"
)

// A page is one of a B-tree that is being filled (1.6): pointers to cells grow from its header, cells from its end.
type page struct {
	b     []byte
	from  int // where its header stands
	head  int // bytes of the header
	cells int
	at    int // where the last cell begins
}

func (p *page) begin(kind byte) {
	p.head = 8
	if kind == 0x05 || kind == 0x02 {
		p.head = 12
	}
	p.b[p.from] = kind
}

func (p *page) fits(cell int) bool { return p.from+p.head+2*(p.cells+1)+cell <= p.at }

func (p *page) add(cell []byte) {
	p.at -= len(cell)
	copy(p.b[p.at:], cell)
	binary.BigEndian.PutUint16(p.b[p.from+p.head+2*p.cells:], uint16(p.at))
	p.cells++
}

// pop takes the last cell out again.
func (p *page) pop(bytes int) []byte {
	cell := append([]byte(nil), p.b[p.at:p.at+bytes]...)
	clear(p.b[p.at : p.at+bytes])
	p.at += bytes
	p.cells--
	return cell
}

func (p *page) end() {
	h := p.b[p.from:]
	binary.BigEndian.PutUint16(h[3:], uint16(p.cells))
	binary.BigEndian.PutUint16(h[5:], uint16(p.at))
}

// A tree is the B-tree of a table or an index, filled from left to right.
type tree struct {
	w           *Writer
	leaf, inner byte
	p           *page
	key         int64 // of the last cell in p
	size        int   // of that cell
	levels      []*level
}

// A level has pages that an inner page of the next higher level will point to.
type level struct {
	children []child
	bytes    int
}

// A child is a page with what separates it from the next one: in tables its greatest rowid, in indexes a
// cell that stands in neither.
type child struct {
	page uint32
	key  int64
	cell []byte
}

// leafCell adds a cell of a row. Of a full page of an index the last cell moves up.
func (t *tree) leafCell(cell []byte, key int64) error {
	if t.p == nil {
		t.p = newPage(t.leaf)
	}
	if !t.p.fits(len(cell)) {
		var last []byte
		if t.leaf == 0x0a {
			last = t.p.pop(t.size)
		}
		t.p.end()
		n, err := t.w.page(t.p.b)
		if err != nil {
			return err
		}
		if err := t.up(0, child{n, t.key, last}); err != nil {
			return err
		}
		clear(t.p.b)
		*t.p = page{b: t.p.b, at: pageSize}
		t.p.begin(t.leaf)
	}
	t.p.add(cell)
	t.key, t.size = key, len(cell)
	return nil
}

func newPage(kind byte) *page {
	p := &page{b: make([]byte, pageSize), at: pageSize}
	p.begin(kind)
	return p
}

// up adds a page to a level above the leaves. Where there are more than an inner page has room for, one is written; the last
// two pages stay, for a page with one child would hold nothing.
func (t *tree) up(at int, c child) error {
	if at == len(t.levels) {
		t.levels = append(t.levels, &level{})
	}
	l := t.levels[at]
	l.children = append(l.children, c)
	l.bytes += 2 + 4 + 9 + len(c.cell) // a key takes up to 9
	if l.bytes <= pageSize-12 {
		return nil
	}
	stay := len(l.children) - 2
	if err := t.write(at, l.children[:stay]); err != nil {
		return err
	}
	l.children = append(l.children[:0], l.children[stay:]...)
	l.bytes = 2*(2+4+9) + len(l.children[0].cell) + len(l.children[1].cell)
	return nil
}

// write makes an inner page of children.
func (t *tree) write(at int, children []child) error {
	p := newPage(t.inner)
	last := children[len(children)-1]
	var cell []byte
	for _, c := range children[:len(children)-1] {
		cell = binary.BigEndian.AppendUint32(cell[:0], c.page)
		if t.inner == 0x05 {
			cell = appendVarint(cell, uint64(c.key))
		} else {
			cell = append(cell, c.cell...)
		}
		p.add(cell)
	}
	binary.BigEndian.PutUint32(p.b[8:], last.page)
	p.end()
	n, err := t.w.page(p.b)
	if err != nil {
		return err
	}
	return t.up(at+1, child{n, last.key, last.cell})
}

// end writes what is left and returns the number of the root.
func (t *tree) end() (uint32, error) {
	if t.p == nil {
		t.p = newPage(t.leaf)
	}
	t.p.end()
	root, err := t.w.page(t.p.b)
	if err != nil || len(t.levels) == 0 {
		return root, err
	}
	if err := t.up(0, child{root, t.key, nil}); err != nil {
		return 0, err
	}
	for at := 0; ; at++ {
		l := t.levels[at]
		if len(l.children) == 1 && at == len(t.levels)-1 {
			return l.children[0].page, nil
		}
		if err := t.write(at, l.children); err != nil {
			return 0, err
		}
	}
}
