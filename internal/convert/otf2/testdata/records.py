# An archive with one of each event record, whose fields are 1, 2, 3, … in turn: made by OTF2's own library,
#
#     python3 records.py && rm -rf records && mv records.new records
#
# The library doesn't check what the numbers refer to.
import os, re, shutil
import otf2, _otf2

source = open(os.path.join(os.path.dirname(_otf2.__file__), "EvtWriter.py")).read()
functions = re.findall(r"def (EvtWriter_\w+)\(writer, attributeList, time(?:, ([^)]*))?\)", source)
shutil.rmtree("records.new", ignore_errors=True)
with otf2.writer.open("records.new", timer_resolution=1000000) as t:
    d = t.definitions
    group = d.location_group("p", system_tree_parent=d.system_tree_node("node", class_name="node"))
    w = t.event_writer_from_location(d.location("t", group=group))
    for time, (name, fields) in enumerate(functions):
        n = len([f for f in fields.split(",") if f.strip()])
        if name == "EvtWriter_ParameterString":
            w.parameter_string(time, d.parameter("p", otf2.enums.ParameterType.STRING), "s")
        elif name == "EvtWriter_ProgramBegin":
            w.program_begin(time, "a", ["b"])
        elif name != "EvtWriter_Metric":
            getattr(_otf2, name)(w._handle, None, time, *range(1, n + 1))
