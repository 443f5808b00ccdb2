module spoor

go 1.26
