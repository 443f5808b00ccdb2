package trace

func RawSection(r *Reader, name string) []byte {
	for i := range r.sections {
		if r.sections[i].name() == name {
			b, err := r.sections[i].load(r.src)
			if err != nil {
				panic(err)
			}
			return b
		}
	}
	return nil
}
