"""Reads a report of `ptxi run --check` with a parser of its format, and prints what it contains."""
import json
import sys
import xml.etree.ElementTree


def sarif(text):
    run, = json.loads(text)['runs']
    rules = run['tool']['driver']['rules']
    assert len({r['id'] for r in rules}) == len(rules)
    for r in run['results']:
        assert rules[r['ruleIndex']]['id'] == r['ruleId'] and r['message']['text']
        place = r['locations'][0]['physicalLocation']
        print(r['level'], r['ruleId'], place['artifactLocation']['uri'], place['region']['startLine'])
    print(run['properties'])


def stacks(text):
    for result in json.loads(text)['runs'][0]['results']:
        for stack in result.get('stacks', ()):
            print(stack['message']['text'])
            for frame in stack['frames']:
                print(frame['location']['message']['text'])


def lines(text):
    for line in text.splitlines():
        x = json.loads(line)
        for key in ('address', 'object', 'message'):
            x.pop(key, None)
        print(x)


def tree(text):
    for element in xml.etree.ElementTree.fromstring(text).iter():
        if element.tag != 'address':
            value = (element.text or '').split('\n')[0]
            attributes = {k: v for k, v in element.attrib.items() if k != 'message'}
            print(element.tag, attributes or '', value if 'at 0x' not in value else '')


{'sarif': sarif, 'stacks': stacks, 'json': lines, 'xml': tree, 'junit': tree}[sys.argv[1]](open(sys.argv[2]).read())
